-- How far the list of received Pix has been read is in `acquirer_lists` since migration 0016. The version that ran
-- before this one does not read `received_list` either.
-- squawk-ignore ban-drop-table
drop table received_list;
