import { testSeed } from '@pixmesh/testkit/test-seed';
import fc from 'fast-check';

/** Properties draw from the seed of the run, so that one number repeats all of them. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: testSeed() });
