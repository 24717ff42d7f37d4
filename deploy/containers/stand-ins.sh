#!/usr/bin/env bash
# Builds stand-ins under the public names of the images that the mesh is made of, from Debian, npm and Maven
# packages, for a machine that reaches no image registry: stand-ins.sh FOLDER. Needs root, Debian, npm, Maven and
# `npm ci`. They show that Dockerfile and compose file hang together; the published images differ in release,
# layout and entry point.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=$(realpath -m "${1:?a folder}")
suite=${SUITE:-forky}
kafka=4.3.1
registry=3.0.9
mkdir -p "$folder"
cd "$folder"

image() { docker build -q --build-context files="$folder" --target "$1" -t "$2" "$here/stand-ins" >/dev/null; echo "$2"; }

maven() { mvn -q -B "$@" > "$folder/maven.log" 2>&1 || { tail -5 "$folder/maven.log" >&2; exit 1; }; }

if [ ! -s base.tar ]; then
  command -v mmdebstrap >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends mmdebstrap; }
  mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m1 '/debian/$')
  # A mirror may be a snapshot of some day.
  mmdebstrap -q --variant=minbase --include=ca-certificates \
    --aptopt='Acquire::Check-Valid-Until "false"' "$suite" base.tar \
    "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
fi
docker import base.tar pixmesh-stand-in-base >/dev/null
cp -L /etc/ssl/certs/ca-certificates.crt ca.crt

cp "$root"/node_modules/node-linux-*/bin/node node
[ -s npm.tgz ] || mv "$(npm pack --silent npm@11 | tail -1)" npm.tgz
image node node:24-slim
image postgres postgres:18
image redis redis:8

# Nothing of a download goes into an image that is not what a laptop would run.
check() {
  (cd "$root/deploy" && "$folder/node" --input-type=module -e "
    import { checkDigests } from '@pixmesh/local-stack/infra/artifact-digests';
    import { $1 } from '@pixmesh/local-stack/infra/artifacts';
    await checkDigests('$2', $1.files);")
}

if [ ! -d kafka ]; then
  sed "s/KAFKA_VERSION/$kafka/" "$here/stand-ins/kafka-pom.xml" > pom.xml
  rm -rf kafka.new
  maven dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=kafka.new
  check KAFKA "$folder/kafka.new"
  mv kafka.new kafka
fi
image kafka "apache/kafka:$kafka"

if [ ! -d registry ]; then
  # The artifact's parent does not resolve; this version of the plugin does not ask for it.
  plugin=org.apache.maven.plugins:maven-dependency-plugin:2.8
  artifact=io.apicurio:apicurio-registry-app:$registry:tar.gz:all
  maven $plugin:get -Dartifact=$artifact -Dtransitive=false
  archive=$(find ~/.m2 -name "apicurio-registry-app-$registry-all.tar.gz" | head -1)
  rm -rf archive registry.new
  mkdir archive registry.new
  cp "$archive" archive
  check REGISTRY "$folder/archive"
  tar xzf archive/*.tar.gz -C registry.new
  rm -r archive
  mv registry.new registry
fi
image registry "apicurio/apicurio-registry:$registry"
