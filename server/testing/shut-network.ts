import net from 'node:net';

/** Any connection that leaves this machine fails the test that makes it: no test needs a network. */
const connect = net.Socket.prototype.connect;

net.Socket.prototype.connect = function shutConnect(this: net.Socket, ...args: unknown[]): net.Socket {
  const host = hostOf(args);
  if (host !== null && !/^(localhost|127\.|::1$|\[::1\])/.test(host)) {
    throw new Error(`A test tried to reach ${host}; the network is shut in tests.`);
  }
  // The original has several signatures; the arguments go through unchanged.
  return connect.apply(this, args as Parameters<typeof connect>);
} as typeof connect;

function hostOf(args: unknown[]): string | null {
  const first = Array.isArray(args[0]) ? args[0][0] : args[0];
  if (typeof first === 'object' && first !== null && 'host' in first) {
    return typeof first.host === 'string' ? first.host : null;
  }
  return typeof args[1] === 'string' ? args[1] : null;
}
