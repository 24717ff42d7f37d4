#!/usr/bin/env bash
# A Docker Engine with compose and buildx for a Debian machine that has none: engine.sh start|stop FOLDER, as root.
# The programs of a newer Debian suite are unpacked into FOLDER; only runc and iptables are installed. After
# `start`, `. FOLDER/env` points the docker command at it. `stop` ends it and keeps FOLDER for the next start.
set -euo pipefail

action=${1:?start or stop}
folder=$(realpath -m "${2:?a folder}")
suite=${SUITE:-forky}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
packages=(docker.io docker-cli docker-compose docker-buildx containerd tini-static)

download_programs() {
  local apt=$folder/apt unpacked=$folder/unpacked mirror
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$folder/bin" "$folder/config/cli-plugins" "$unpacked"
  mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m1 '/debian/$')
  echo "deb [signed-by=$keyring] $mirror $suite main" > "$apt/sources.list"
  local options=(-qq -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$apt/lists"
    -o Dir::Cache="$apt/cache" -o Acquire::Languages=none -o APT::Sandbox::User=root
    -o Acquire::Check-Valid-Until=false) # A mirror may be a snapshot of some day.
  apt-get "${options[@]}" update
  (cd "$unpacked" && apt-get "${options[@]}" download "${packages[@]}" && for deb in *.deb; do dpkg -x "$deb" .; done)
  cp "$unpacked"/usr/sbin/{dockerd,docker-proxy} "$folder/bin/"
  cp "$unpacked"/usr/bin/{docker,containerd,containerd-shim-runc-v2} "$folder/bin/"
  cp "$unpacked/usr/bin/tini-static" "$folder/bin/docker-init"
  cp "$unpacked"/usr/libexec/docker/cli-plugins/* "$folder/config/cli-plugins/"
  rm -rf "$unpacked" "$apt"
}

answers() { "$folder/bin/docker" -H "unix://$folder/docker.sock" version >/dev/null 2>&1; }

start() {
  if [ ! -x "$folder/bin/docker-init" ]; then download_programs; fi
  if ! command -v runc >/dev/null || ! command -v iptables >/dev/null; then
    apt-get update -qq && apt-get install -y -qq --no-install-recommends runc iptables >/dev/null
  fi
  if ! answers; then
    iptables -S FORWARD | grep '^-P' > "$folder/forward-policy"
    PATH=$folder/bin:$PATH nohup "$folder/bin/dockerd" --data-root "$folder/data" --exec-root "$folder/exec" \
      --pidfile "$folder/dockerd.pid" -H "unix://$folder/docker.sock" > "$folder/dockerd.log" 2>&1 &
    for _ in $(seq 120); do answers && break; sleep 0.25; done
  fi
  answers || { tail -5 "$folder/dockerd.log" >&2; exit 1; }
  cat > "$folder/env" <<EOF
export DOCKER_HOST=unix://$folder/docker.sock DOCKER_CONFIG=$folder/config PATH=$folder/bin:\$PATH
EOF
}

stop() {
  [ -e "$folder/dockerd.pid" ] || return 0
  kill "$(cat "$folder/dockerd.pid")"
  for _ in $(seq 150); do [ -e "$folder/dockerd.pid" ] || break; sleep 0.2; done
  [ ! -e "$folder/dockerd.pid" ] || { echo 'the engine did not stop within 30 s' >&2; exit 1; }
  forget_network
}

# The engine leaves its bridge, its chains and a closed FORWARD behind.
forget_network() {
  for tables in iptables ip6tables; do $tables-save | grep -vi docker | $tables-restore; done
  # shellcheck disable=SC2046 # the words of one rule
  iptables $(cat "$folder/forward-policy")
  ip link delete docker0 2>/dev/null || true
}

case $action in
  start) start ;;
  stop) stop ;;
  *) echo "usage: engine.sh start|stop FOLDER" >&2; exit 2 ;;
esac
