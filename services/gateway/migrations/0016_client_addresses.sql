-- Who called: behind a trusted proxy as it says, else who holds the connection. Null before this.
alter table request_log add column client_address text;
alter table audit_log add column client_address text;
