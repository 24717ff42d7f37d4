import { endIdleConnectionsSoon } from '@pixmesh/testkit/short-connections';

endIdleConnectionsSoon();
