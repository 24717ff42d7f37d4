-- Run once by the image of Postgres, when its volume is empty: the registry keeps its schemas in a database of
-- its own, so that the ids inside stored messages stay valid across restarts.
\set password `cat /run/secrets/REGISTRY_DATABASE_PASSWORD`
create role registry login password :'password';
create database registry owner registry;
