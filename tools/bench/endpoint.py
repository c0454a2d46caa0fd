"""A local endpoint for benchmarks: reads each body whole, waits, gives one fixed answer. Prints its base URL."""

from __future__ import annotations

import asyncio
import json
import sys

from aiohttp import web

REPLY = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "12"}, "finish_reason": "stop"},
        ],
        "usage": {"prompt_tokens": 300, "completion_tokens": 2, "total_tokens": 302},
    }
).encode()


async def main(latency_s: float) -> None:
    async def answer(request: web.Request) -> web.Response:
        async for _ in request.content.iter_any():
            pass
        if latency_s:
            await asyncio.sleep(latency_s)
        return web.Response(body=REPLY, content_type="application/json")

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    print(f"http://{host}:{port}/v1", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]) / 1000))
