-- What operators look for over all accounts and every source. Where a charge stands among all charges when they are
-- listed by status: `list_class` as migration 0003 explains it, of charges of the checkout too. A list without a
-- status walks along every class, so no index by time alone is needed beside this one.
create index charges_by_class on charges (
  list_class('api', status, accepted_e2e, created_at, expires_at), created_at, id, expires_at
);

-- A reference is anybody's word and may repeat. A Pix is found by `charges_accepted_e2e`.
create index charges_reference on charges (reference, created_at, id) where reference is not null;

-- What `/v1` does not show, over all accounts and in one of them; charges of the API are in neither index.
create index charges_unlisted on charges (created_at, id) where source <> 'api';
create index charges_unlisted_of_account on charges (account_id, created_at, id) where source <> 'api';
