-- How far the list of received Pix has been read moves to the table of all lists. `received_list` stays for the version
-- before, which reads on by itself; the release after this one drops it.
insert into acquirer_lists (name, listed_until, window_from, window_to, began_at, page)
select 'received', listed_until, window_from, window_to, window_read_at, window_page from received_list;
