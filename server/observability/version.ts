import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { packageRoot } from './package-root.ts';

const manifest = z.object({ version: z.string() });

/** The version of this program, from package.json. */
export const version = manifest.parse(JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'))).version;
