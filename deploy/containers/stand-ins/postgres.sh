#!/usr/bin/env bash
# What the compose file needs of the published image's entry point: a first start that makes the cluster, the
# database and whatever /docker-entrypoint-initdb.d asks for, on the socket only; then the server.
set -euo pipefail

# Another program than the server is run as it is, by root.
[ "$1" = postgres ] || exec "$@"

if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" /var/run/postgresql
  chown -R postgres:postgres /var/lib/postgresql /var/run/postgresql
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb -U postgres -E UTF8 --locale=C.UTF-8 --auth-host=scram-sha-256 --auth-local=trust \
    --pwfile="${POSTGRES_PASSWORD_FILE:?}" -D "$PGDATA" >/dev/null
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  echo "listen_addresses = '*'" >> "$PGDATA/postgresql.conf"
  pg_ctl -D "$PGDATA" -o "-c listen_addresses=''" -w start >/dev/null
  psql=(psql -U postgres -v ON_ERROR_STOP=1 -q)
  "${psql[@]}" -c "create database \"${POSTGRES_DB:?}\""
  for file in /docker-entrypoint-initdb.d/*.sql; do "${psql[@]}" -d "$POSTGRES_DB" -f "$file"; done
  pg_ctl -D "$PGDATA" -m fast -w stop >/dev/null
fi
exec "$@"
