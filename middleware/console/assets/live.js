// The connection: a stream of states while somebody looks at the page, and
// questions from time to time where there is no stream to be had.

const asking = 5000;

export class Live {
  constructor(onState, onLink) {
    this.onState = onState;
    this.onLink = onLink;
    this.query = "";
    document.addEventListener("visibilitychange", () => (document.hidden ? this.pause() : this.connect()));
  }

  // show asks for what query says, from now on.
  show(query) {
    this.query = query;
    if (!document.hidden) this.connect();
  }

  connect() {
    this.stop();
    const source = new EventSource(`events?${this.query}`);
    this.source = source;
    source.onmessage = (event) => this.got(JSON.parse(event.data), "live");
    source.onerror = () => {
      if (source !== this.source) return;
      if (source.readyState === EventSource.CLOSED) this.ask(0);
      else this.onLink("lost", "reconnecting");
    };
  }

  // ask asks once, and again later. Now and then it tries for a stream.
  async ask(turn) {
    this.stop();
    const query = this.query;
    const timer = setTimeout(() => (turn % 6 === 5 ? this.connect() : this.ask(turn + 1)), asking);
    this.timer = timer;
    try {
      const response = await fetch(`state.json?${query}`, { cache: "no-store" });
      if (timer !== this.timer) return;
      if (!response.ok) this.onLink("lost", `refused: ${response.status} ${response.statusText}`.trim());
      else this.got(await response.json(), "asking", "asking every 5 s");
    } catch {
      if (timer === this.timer) this.onLink("lost", "out of reach, trying again");
    }
  }

  got(state, link, words = link) {
    this.onLink(link, words);
    this.onState(state);
  }

  pause() {
    this.stop();
    this.onLink("paused", "paused");
  }

  stop() {
    this.source?.close();
    clearTimeout(this.timer);
    this.source = this.timer = null;
  }
}
