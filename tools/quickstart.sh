#!/usr/bin/env bash
# From nothing to a first result: installs into .venv and counts red blood cells on 72 real photographs with a
# classical counter that runs in this process. No key, no GPU, no network beyond the package index.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

echo "Counting red blood cells on 72 photographs (tasks/bccd_count) with Otsu's threshold ..." >&2
.venv/bin/flagharness --tasks tasks/bccd_count/bccd_count.py --cfg model_configs/otsu_counter.json "$@"

cat <<'NEXT'

That was a counter without a vision-language model: a floor, not a contender. What to type next:

  source .venv/bin/activate
  flagharness --tasks bccd_count --model NAME --url http://HOST:PORT/v1     # your endpoint on the same photographs
  flagharness --tasks countqa --cfg my_model.json --try-run                 # 32 samples of a published benchmark
  flagharness list                                                          # all tasks
  bash tools/test.sh                                                        # the tests
NEXT
