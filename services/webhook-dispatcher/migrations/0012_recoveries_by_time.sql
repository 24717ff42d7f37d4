-- Operators list recoveries newest first. They are few; the index keeps a page from sorting all that ever were.
create index recoveries_by_time on recoveries (created_at desc, id desc);
