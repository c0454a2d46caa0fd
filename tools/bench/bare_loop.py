"""The floor: read the image, encode, splice, post, parse. Prints the seconds from first request to last answer."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

import aiohttp
import orjson
import pybase64


async def main(data: Path, url: str, workers: int) -> float:
    rows = iter(json.loads(data.read_text()))
    url = url + "/chat/completions"

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=workers)) as session:

        async def work() -> None:
            for row in rows:
                image = pybase64.b64encode((data.parent / row["img_path"]).read_bytes())
                frame = orjson.dumps(
                    {
                        "model": "m",
                        "messages": [
                            {
                                "role": "user",
                                "content": [
                                    {"type": "image_url", "image_url": {"url": "@"}},
                                    {"type": "text", "text": row["question"]},
                                ],
                            }
                        ],
                    }
                )
                head, tail = frame.split(b"@")
                body = b"".join([head, b"data:image/jpeg;base64,", image, tail])
                async with session.post(
                    url, data=body, headers={"Content-Type": "application/json"}
                ) as reply:
                    answer = orjson.loads(await reply.read())["choices"][0]["message"]["content"]
                    assert answer == "12"

        started = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(workers)))
        return time.perf_counter() - started


if __name__ == "__main__":
    print(asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))))
