-- What the schema registry answered to the deploy job: the text of each message schema and the id that stands for it in
-- messages. Services start from it, so that none of them waits for the registry.
create table message_schemas (
  subject text not null,
  id integer not null,
  schema text not null,
  primary key (subject, id)
);

do $$
begin
  execute format('revoke insert, update, delete, truncate on message_schemas from %I', 'pixmesh_' || current_schema);
end
$$;
