import { crc32, inflateRawSync } from 'node:zlib';

export interface ZipEntry {
  readonly name: string;
  /** Bytes, as the archive declares them. */
  readonly compressedSize: number;
  readonly uncompressedSize: number;
  readonly method: number;
  readonly crc: number;
  readonly headerOffset: number;
}

const endOfDirectory = 0x06054b50;
const directoryEntry = 0x02014b50;
const localHeader = 0x04034b50;
const maxCommentBytes = 65_535;

/**
 * Reads the list of files of a zip archive without unpacking anything. Returns null when there is no complete central
 * directory (no zip, or a truncated one) and for ZIP64, which no office document needs. Never throws.
 */
export function readZipDirectory(bytes: Uint8Array): ZipEntry[] | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEnd(buffer);
  if (end < 0) return null;
  const count = buffer.readUInt16LE(end + 10);
  let offset = buffer.readUInt32LE(end + 16);
  const entries: ZipEntry[] = [];
  for (let index = 0; index < count; index += 1) {
    if (offset + 46 > buffer.length || buffer.readUInt32LE(offset) !== directoryEntry) return null;
    const nameLength = buffer.readUInt16LE(offset + 28);
    entries.push({
      name: buffer.toString('utf8', offset + 46, offset + 46 + nameLength),
      method: buffer.readUInt16LE(offset + 10),
      crc: buffer.readUInt32LE(offset + 16),
      compressedSize: buffer.readUInt32LE(offset + 20),
      uncompressedSize: buffer.readUInt32LE(offset + 24),
      headerOffset: buffer.readUInt32LE(offset + 42),
    });
    offset += 46 + nameLength + buffer.readUInt16LE(offset + 30) + buffer.readUInt16LE(offset + 32);
  }
  return entries;
}

/**
 * Unpacks one file of an archive. `maxBytes`: real size at which unpacking stops, whatever the archive declares.
 * Throws RangeError when the file is larger or damaged, Error of zlib when it cannot be inflated.
 */
export function unpackZipEntry(bytes: Uint8Array, entry: ZipEntry, maxBytes: number): Buffer {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const packed = packedBytes(buffer, entry);
  if (entry.method === 8) return inflateRawSync(packed, { maxOutputLength: maxBytes });
  if (entry.method !== 0 || packed.length > maxBytes) throw new RangeError(`cannot unpack ${entry.name}`);
  return packed;
}

function packedBytes(buffer: Buffer, { headerOffset, compressedSize }: ZipEntry): Buffer {
  const start = headerOffset + 30 + buffer.readUInt16LE(headerOffset + 26) + buffer.readUInt16LE(headerOffset + 28);
  return buffer.subarray(start, start + compressedSize);
}

/**
 * Writes an archive again with the content of one of its files replaced; the others stay packed as they are.
 * Throws RangeError when `entries` do not fit `bytes`.
 */
export function replaceZipEntry(
  bytes: Uint8Array,
  entries: readonly ZipEntry[],
  replaced: ZipEntry,
  content: Buffer,
): Buffer {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const data = entry === replaced ? content : packedBytes(buffer, entry);
    const head = Buffer.alloc(40);
    head.writeUInt16LE(20, 0);
    // Names are written back as UTF-8, which is what flag 11 says.
    head.writeUInt16LE(0x0800, 2);
    head.writeUInt16LE(entry === replaced ? 0 : entry.method, 4);
    head.writeUInt32LE(entry === replaced ? crc32(content) : entry.crc, 10);
    head.writeUInt32LE(data.length, 14);
    head.writeUInt32LE(entry === replaced ? content.length : entry.uncompressedSize, 18);
    const name = Buffer.from(entry.name);
    head.writeUInt16LE(name.length, 22);
    files.push(signature(localHeader), head.subarray(0, 26), name, data);
    head.writeUInt32LE(offset, 36);
    directory.push(signature(directoryEntry), Buffer.from([20, 0]), head, name);
    offset += 30 + name.length + data.length;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(
    directory.reduce((sum, part) => sum + part.length, 0),
    8,
  );
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...files, ...directory, signature(endOfDirectory), end]);
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function findEnd(buffer: Buffer): number {
  const lowest = Math.max(0, buffer.length - 22 - maxCommentBytes);
  for (let offset = buffer.length - 22; offset >= lowest; offset -= 1) {
    if (buffer.readUInt32LE(offset) === endOfDirectory) return offset;
  }
  return -1;
}
