#!/usr/bin/env bash
# The container test: builds the image, starts the mesh in a compose project and on ports of its own, follows one
# charge, does so again after all containers were made anew, and removes everything: test.sh [--stand-ins] [FOLDER].
# --stand-ins builds the public images from packages and asks no image registry. Starts an engine if none answers.
set -euo pipefail

cd "$(dirname "$0")/../.."
stand_ins=
[ "${1:-}" != --stand-ins ] || { stand_ins=1; shift; }
folder=$(realpath -m "${1:-${TMPDIR:-/tmp}/pixmesh-containers}")
mkdir -p "$folder"
export COMPOSE_PROJECT_NAME=pixmesh-test
export PIXMESH_{GATEWAY,ADMIN,CALLBACK,SIMULATOR,RECEIVER}_PORT=0
export PATH=$(echo "$PWD"/node_modules/node-linux-*/bin):$PATH

own_engine=
finish() {
  docker compose logs --no-color > "$folder/containers.log" 2>&1 || true
  docker compose down --volumes --timeout 5 > /dev/null 2>&1 || true
  [ -z "$own_engine" ] || deploy/containers/engine.sh stop "$folder/engine"
}
trap finish EXIT

step() { echo "== $* ($SECONDS s)"; }

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
step 'docker compose up --build --wait'
docker compose --progress quiet up --build --wait
node deploy/containers/smoke.ts
step 'the same volumes, new containers'
docker compose --progress quiet down
docker compose --progress quiet up --wait
node deploy/containers/smoke.ts
step 'passed'
