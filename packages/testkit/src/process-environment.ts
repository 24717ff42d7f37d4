/**
 * What a service needs of this process's environment when a test starts it: everything else is a setting that the test
 * gives. Compiled sources are kept between processes, so that the second start of a service costs half of the first.
 */
export function processEnvironment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  };
}
