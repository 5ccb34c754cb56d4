import type { Socket } from 'node:net';
import { JSON_CONTENT_TYPE } from './envelope.ts';
import { messageFor } from './messages.ts';

/** Answers bytes that are no HTTP request in the envelope and closes the connection. Never throws. */
export function refuseBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  const body = JSON.stringify({ code, message: messageFor('malformed_request', 'zh-CN'), data: null });
  const reason = code === 431 ? 'Request Header Fields Too Large' : 'Bad Request';
  socket.end(
    `HTTP/1.1 ${code} ${reason}\r\nConnection: close\r\nContent-Type: ${JSON_CONTENT_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
