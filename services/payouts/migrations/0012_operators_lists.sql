-- What operators list over all accounts and find rarely: payouts that failed or were canceled, and those that operators
-- requested. Without these a page walks over every payout, by connections that creations need too. A payout enters the first
-- one once, at its end. Large installations build both concurrently before.
-- squawk-ignore require-concurrent-index-creation
create index if not exists payouts_failed on payouts (status, created_at, id) where status in ('failed', 'canceled');
-- squawk-ignore require-concurrent-index-creation
create index if not exists payouts_of_operators on payouts (created_at, id) where source = 'dashboard';
