// `npm run bench -- NAME`: makes the clone ready, then runs the benches in this process.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepare, root } from './prepare.mjs';

prepare({ build: true });
await import(pathToFileURL(join(root, 'dist', 'bench', 'main.js')).href);
