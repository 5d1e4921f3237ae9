/** What this benchmark uses of autocannon, which brings no types of its own. */
declare module 'autocannon' {
  interface Client {
    setRequests(requests: { method: string; path: string; headers: Record<string, string> }[]): void;
  }
  interface Result {
    non2xx: number;
    errors: number;
  }
  interface Instance extends Promise<Result> {
    on(event: 'response', handler: (client: Client, status: number, bytes: number, ms: number) => void): void;
  }
  export default function autocannon(options: {
    url: string;
    connections: number;
    amount: number;
    timeout: number;
    setupClient(client: Client): void;
  }): Instance;
}
