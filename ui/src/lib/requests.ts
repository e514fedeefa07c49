// Tracks which of a dialog's requests is the current one. Knows neither components nor the host.

/** Numbers the requests of a dialog, so that the answer to a stopped request is ignored. */
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
