/** A failure that the person at the terminal can act on: printed as one line, without a stack. */
export class StartupFailure extends Error {
  override readonly name = 'StartupFailure';
  /** Last lines of the log of the process that failed, shown below the message. */
  readonly logLines: readonly string[];

  constructor(message: string, logLines: readonly string[] = []) {
    super(message);
    this.logLines = logLines;
  }
}
