#!/usr/bin/env bash
# The container test: builds the images and weighs them, starts the mesh in a compose project and on ports of its own,
# follows one charge and one payout, does so again after all containers were made anew, runs conformance, shares a burst
# among three senders, kills one of them in another, and removes everything: test.sh [--stand-ins] [FOLDER].
# --stand-ins builds the public images from packages and asks no image registry. Starts an engine if none answers.
set -euo pipefail

cd "$(dirname "$0")/../.."
stand_ins=
[ "${1:-}" != --stand-ins ] || { stand_ins=1; shift; }
folder=$(realpath -m "${1:-${TMPDIR:-/tmp}/pixmesh-containers}")
mkdir -p "$folder"
export COMPOSE_PROJECT_NAME=pixmesh-test PIXMESH_TAG=local
export PIXMESH_{GATEWAY,ADMIN,CALLBACK,SIMULATOR,RECEIVER}_PORT=0
export PATH=$(echo "$PWD"/node_modules/node-linux-*/bin):$PATH
targets=(gateway charges payouts ledger webhook-dispatcher acquirer-simulator jobs)
size_mb_max=60

own_engine=
finish() {
  docker compose logs --no-color > "$folder/containers.log" 2>&1 || true
  docker compose down --volumes --timeout 5 > /dev/null 2>&1 || true
  [ -z "$own_engine" ] || deploy/containers/engine.sh stop "$folder/engine"
}
trap finish EXIT

step() { echo "== $* ($SECONDS s)"; }

size_of() { docker image inspect --format '{{.Size}}' "$1"; }

# What an image adds to its base, in MB of 1,000,000 bytes, uncompressed.
weigh_images() {
  local base added target
  base=$(size_of node:24-slim)
  for target in "${targets[@]}"; do
    added=$((($(size_of "pixmesh/$target:local") - base) / 1000000))
    echo "$target: $added MB above node:24-slim"
    [ "$added" -le "$size_mb_max" ] || { echo "more than $size_mb_max MB" >&2; return 1; }
  done
}

# From the start of a process to its line "service ready".
show_start_times() {
  local id
  for id in $(docker compose ps --quiet "${targets[@]:0:6}"); do
    # The whole log is read: a reader that ends early would end `docker logs` by a signal.
    docker logs "$id" 2>&1 | STARTED=$(docker inspect --format '{{.State.StartedAt}}' "$id") \
      node -e "const line = JSON.parse(require('fs').readFileSync(0, 'utf8').split('\\n').find((one) => one.includes('service ready')));
        console.log(line.service + ': ready after ' + (Date.parse(line.time) - Date.parse(process.env.STARTED)) + ' ms');"
  done
}

# Services without a published port have no way out: 192.0.2.1 belongs to no machine, and they have no route to it.
expect_walls() {
  local service answer
  for service in charges payouts ledger webhook-dispatcher; do
    answer=$(docker compose exec -T "$service" node -e \
      "require('net').connect({ host: '192.0.2.1', port: 443, timeout: 3000 }).on('timeout', () => process.exit()).on('error', (e) => console.log(e.code))")
    [ "$answer" = ENETUNREACH ] || { echo "$service has a way out: $answer" >&2; return 1; }
  done
}

expect_map() {
  local printed
  # As above: `grep --quiet` ends before its writer does.
  printed=$(docker compose logs --no-color --no-log-prefix demo)
  grep --quiet 'API key of the demo account *[a-z]' <<< "$printed" || {
    echo 'the demo printed no key' >&2
    return 1
  }
}

expect_nothing_left() {
  local of=label=com.docker.compose.project=$COMPOSE_PROJECT_NAME left
  left=$(docker ps --all --quiet --filter "$of"; docker network ls --quiet --filter "$of"; docker volume ls --quiet --filter "$of")
  [ -z "$left" ] || { echo "left behind: $left" >&2; return 1; }
}

if ! docker info > /dev/null 2>&1; then
  step 'starting an engine'
  deploy/containers/engine.sh start "$folder/engine"
  . "$folder/engine/env"
  own_engine=1
fi
if [ -n "$stand_ins" ]; then
  step 'building stand-ins of the public images'
  deploy/containers/stand-ins.sh "$folder/stand-ins"
fi
step 'docker compose build'
docker compose --progress quiet build
weigh_images
step 'docker compose up --wait'
docker compose --progress quiet up --wait
show_start_times
expect_map
expect_walls
node deploy/containers/smoke.ts
step 'the same volumes, new containers'
docker compose --progress quiet down
docker compose --progress quiet up --wait
show_start_times
node deploy/containers/smoke.ts
step 'conformance'
node deploy/containers/write-stack.ts "$folder/stack.json"
node packages/conformance/src/main.ts --stack "$folder/stack.json"
step 'a burst shared by three senders'
docker compose --progress quiet up --wait --scale webhook-dispatcher-sender=3
node deploy/containers/burst.ts
step 'one of them killed'
node deploy/containers/burst.ts --kill
step 'docker compose down --volumes'
docker compose --progress quiet down --volumes
expect_nothing_left
step 'passed'
