-- That a Pix in suspense was disputed is never forgotten by the service.
revoke delete, truncate on suspended_disputes from pixmesh_charges;
