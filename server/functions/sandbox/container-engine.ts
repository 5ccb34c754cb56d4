import type { ChildProcessWithoutNullStreams } from 'node:child_process';

/** What the self-test asks of an image. */
export interface ImageFacts {
  /** Content address: what was tested is what runs, even where the name moves on. */
  id: string;
  /** Paths that the image declares as VOLUME; each would be a writable disk in spite of a read-only root. */
  volumes: string[];
}

export interface ListedContainer {
  id: string;
  /** The value of our label. */
  owner: string;
  ageMs: number;
}

export interface Launch {
  name: string;
  owner: string;
  /** Id of the image. */
  image: string;
  ahead: boolean;
}

/** The container engine as far as the sandbox needs it. Everything is bounded in time; failures are SandboxErrors. */
export interface ContainerEngine {
  /** For messages: `docker`, or `wsl NAME`. */
  readonly name: string;
  version(): Promise<string>;
  inspectImage(image: string): Promise<ImageFacts>;
  /**
   * Starts a container with every limit and the client attached to it. The process ends once the container is
   * removed; its standard error holds what the engine has to say. Never throws: a start failure is an `error` event.
   */
  launch(launch: Launch): ChildProcessWithoutNullStreams;
  /** Kills and removes; those that are gone already are no error. */
  remove(containers: readonly string[]): Promise<void>;
  /** Every container with our label, of any owner, in any state. */
  list(): Promise<ListedContainer[]>;
}
