import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a server that can be cut and closed, as a network can. */
export interface CuttableProxy {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Breaks every connection; new ones are broken too until `mend`. Returns how many there were. */
  cut(): number;
  mend(): void;
  /** Lets the connection that spoke last stand and nothing through it any more; breaks those that wait for use. */
  freeze(): void;
  close(): Promise<void>;
}

/** Starts a proxy on a free port. Addresses in what the browser sends become the server's: it refuses foreign ones. */
export async function startCuttableProxy(target: string): Promise<CuttableProxy> {
  const { host, port } = new URL(target);
  /** The server's end of each connection with the browser's. */
  const pairs = new Map<Socket, Socket>();
  let isCut = false;
  let own = '';
  let speaker: Socket | null = null;
  const server = createServer((inside) => {
    if (isCut) return void inside.destroy();
    const outside = connect(Number(port), '127.0.0.1');
    pairs.set(outside, inside);
    tie(inside, outside, () => pairs.delete(outside));
    inside.on('data', (data) => outside.write(Buffer.from(data.toString('latin1').replaceAll(own, host), 'latin1')));
    outside.on('data', (data) => {
      speaker = outside;
      inside.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server has an address with a port.
  own = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cut = (): number => {
    isCut = true;
    const count = pairs.size;
    for (const inside of pairs.values()) inside.destroy();
    return count;
  };
  return {
    url: `http://${own}`,
    cut,
    mend: () => {
      isCut = false;
    },
    freeze: () => {
      speaker?.removeAllListeners('data').resume();
      for (const [outside, inside] of pairs) if (outside !== speaker) inside.destroy();
    },
    close: async () => {
      cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Whatever breaks one side breaks the other. */
function tie(inside: Socket, outside: Socket, onClose: () => void): void {
  for (const socket of [inside, outside]) {
    socket.on('error', () => undefined);
    socket.on('close', () => {
      onClose();
      inside.destroy();
      outside.destroy();
    });
  }
}
