// `npm run crash -- --points N`: makes the clone ready, then kills the program again and again and looks at what is left.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepare, root } from './prepare.mjs';

prepare({ build: true });
await import(pathToFileURL(join(root, 'dist', 'server', 'testing', 'crash', 'crash-main.js')).href);
