// Runs tasks one after another, at most a few at once. Knows neither components nor the host.

/** A task that runs until it ends or is stopped. */
export interface Task {
  id: string;
  run: () => Promise<void>;
}

export class TaskQueue {
  private waiting: Task[] = [];
  private readonly running = new Set<Task>();

  constructor(private readonly most: number) {}

  /** Adds a task at the end. Another one with the same id that still waits is dropped. */
  add(task: Task): void {
    this.drop(task.id);
    this.waiting.push(task);
    this.next();
  }

  /** Removes a task that still waits. */
  drop(id: string): void {
    this.waiting = this.waiting.filter((task) => task.id !== id);
  }

  /** Frees the place of a task that was stopped, so that the next one need not wait for its end. */
  free(id: string): void {
    for (const task of this.running) if (task.id === id) this.running.delete(task);
    this.next();
  }

  clear(): void {
    this.waiting = [];
    this.running.clear();
  }

  private next(): void {
    while (this.running.size < this.most && this.waiting.length > 0) {
      const task = this.waiting.shift()!;
      this.running.add(task);
      void task.run().finally(() => {
        if (this.running.delete(task)) this.next();
      });
    }
  }
}
