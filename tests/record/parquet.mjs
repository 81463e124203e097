// node parquet.mjs FILE - the rows of a file of Parquet, a JSON line each, after a line about the file. $HYPARQUET is a
// folder in which npm installed hyparquet and hyparquet-compressors.
import { createRequire } from 'node:module';
const from = createRequire(process.env.HYPARQUET + '/x.js');
const { asyncBufferFromFile } = await import(process.env.HYPARQUET + '/node_modules/hyparquet/src/node.js');
const { parquetMetadataAsync, parquetReadObjects } = await import(from.resolve('hyparquet'));
const { compressors } = await import(from.resolve('hyparquet-compressors'));
const file = await asyncBufferFromFile(process.argv[2]);
const about = await parquetMetadataAsync(file);
const plain = (key, v) => typeof v === 'bigint' ? (Number.isSafeInteger(Number(v)) ? Number(v) : String(v))
	: v instanceof Uint8Array ? [...v] : v;
console.log(JSON.stringify({ rows: about.num_rows, groups: about.row_groups.length, facts: about.key_value_metadata ?? [] }, plain));
for (const row of await parquetReadObjects({ file, compressors }))
	console.log(JSON.stringify(row, plain));
