// `npm start` and `npm run knowhy`: makes the clone ready, then runs the command line in this process.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepare, root } from './prepare.mjs';

prepare({ build: true });
await import(pathToFileURL(join(root, 'dist', 'server', 'cli.js')).href);
