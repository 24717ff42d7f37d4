-- BREAKING: drops the tables that 0003 has emptied into the new ones.

drop table releases_0001, suspense_items_0001, entries_0001, journals_0001, accounts_0001;
drop type account_kind_0001;
