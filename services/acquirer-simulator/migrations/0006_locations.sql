-- Payers find a charge by what stands in its BR Code.
create index charges_location on charges (location);
