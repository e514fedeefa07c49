// Requests that a dialog can stop: which of them is the current one. Knows neither components nor the host.

/** Numbers the requests of the dialog, so that the answer to a stopped one is ignored. */
export class Requests {
  private current = 0;

  /** Begins a request and returns a function that tells whether it was stopped. */
  begin(): () => boolean {
    this.current += 1;
    const own = this.current;
    return () => own !== this.current;
  }

  /** Stops the running request. */
  stop(): void {
    this.current += 1;
  }
}
