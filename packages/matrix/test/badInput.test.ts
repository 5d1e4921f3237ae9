import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { MAX_CELLS, matrixFromObject, parseMatrix, writeCsv, writeMatrixJson } from '../src/index.ts';

const read = (text: string | Uint8Array) => {
  const { boots, metrics } = parseMatrix(text, 'm.json');
  return { boots, metrics: [...metrics] };
};

describe('forms of a matrix', () => {
  it("are LKP's matrix.json, with a run path per column", () => {
    expect(read('{"stats_source": ["/r/0", "/r/1"], "dbench.x": [1.5, 2]}')).toEqual({
      boots: ['/r/0', '/r/1'],
      metrics: [['dbench.x', [1.5, 2]]],
    });
  });

  it("are LKP's stats.json, of one boot", () => {
    expect(read('{"a.x": 1.5, "a.y": 0}')).toEqual({
      boots: ['1'],
      metrics: [
        ['a.x', [1.5]],
        ['a.y', [0]],
      ],
    });
  });

  it('are CSV with LF or CRLF, quotes and empty cells', () => {
    expect(read('metric,b1,b2\r\n"a,""q""",1,\r\nc,-2e3,.5\r\n')).toEqual({
      boots: ['b1', 'b2'],
      metrics: [
        ['a,"q"', [1, null]],
        ['c', [-2000, 0.5]],
      ],
    });
  });

  it.each(['{"a": [1, 2]}', 'metric,b1\na,1\n'])('are gzipped ones: %s', (text) => {
    expect(read(gzipSync(text)).metrics).toEqual(read(text).metrics);
  });
});

describe('doubtful values', () => {
  it.each([
    ['rows of unequal length are filled up at their end', '{"a": [1, 2, 3], "b": [4]}', [1, 2, 3], [4, null, null]],
    [
      'strings that are numbers are these',
      '{"a": ["1.5", " 2 ", "3e1"], "b": ["x", "", "0x10"], "c": [1]}',
      [1.5, 2, 30],
      undefined,
    ],
    [
      'NaN and infinities are missing',
      '{"a": [1, NaN, -Infinity], "b": [1e999, null, true]}',
      [1, null, null],
      undefined,
    ],
    [
      'integers beyond 2^53 are the nearest float64',
      '{"a": [18446744073709551615], "b": [9007199254740993]}',
      [2 ** 64],
      [2 ** 53],
    ],
    ['zeros stay zeros', '{"a": [0, 0], "b": [0, null]}', [0, 0], [0, null]],
  ])('%s', (_, text, a, b) => {
    const { metrics } = parseMatrix(text);
    expect(metrics.get('a')).toEqual(a);
    expect(metrics.get('b')).toEqual(b);
  });

  it('a row longer than stats_source names is refused', () => {
    expect(() => read('{"stats_source": ["x"], "a": [1, 2]}')).toThrow(/m\.json: a has 2 values.*1 boots/);
  });

  it('boots that have nothing at all keep their column', () => {
    expect(read('{"stats_source": ["x", "y"], "a": [1]}')).toEqual({ boots: ['x', 'y'], metrics: [['a', [1, null]]] });
  });
});

describe('what is no matrix', () => {
  it.each([
    ['KD_MATRIX_EMPTY', ''],
    ['KD_MATRIX_EMPTY', ' \n'],
    ['KD_MATRIX_EMPTY', '{}'],
    ['KD_MATRIX_EMPTY', '{"a": []}'],
    ['KD_MATRIX_EMPTY', '{"a": ["x", null]}'],
    ['KD_MATRIX_EMPTY', 'metric,b1\na,x\n'],
    ['KD_MATRIX_SYNTAX', 'hello'],
    ['KD_MATRIX_SYNTAX', '{"a": [1, 2'],
    ['KD_MATRIX_SYNTAX', 'metric,b1\n"a,1\n'],
    ['KD_MATRIX_SHAPE', '[1, 2]'],
    ['KD_MATRIX_SHAPE', 'null'],
    ['KD_MATRIX_SHAPE', '5'],
    ['KD_MATRIX_SHAPE', '"x"'],
    ['KD_MATRIX_SHAPE', '{"a": {"b": 1}}'],
    ['KD_MATRIX_SHAPE', 'metric,b1\na,1,2\n'],
  ])('is refused with %s: %j', (code, text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code }));
  });

  it('is a gzip that is cut', () => {
    const cut = gzipSync('{"a": [1, 2, 3]}').subarray(0, 20);
    expect(() => read(cut)).toThrow(expect.objectContaining({ code: 'KD_MATRIX_SYNTAX' }));
  });

  it('names the file', () => {
    expect(() => read('hello')).toThrow(/^m\.json: /);
  });
});

it('a matrix of 10 million numbers is read; more than fit is refused before rows are filled up', () => {
  // One long row and many short ones: the numbers that a matrix holds, without the text.
  const row = new Array(1_000_000).fill(1);
  const ten = matrixFromObject(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`m${i}`, row])));
  expect([ten.boots.length, ten.metrics.size]).toEqual([1_000_000, 10]);
  const short = Array.from({ length: MAX_CELLS / row.length }, (_, i) => [`s${i}`, [1]]);
  const sparse = Object.fromEntries([['long', row], ...short]);
  expect(() => matrixFromObject(sparse)).toThrow(expect.objectContaining({ code: 'KD_MATRIX_TOO_LARGE' }));
});

it.each([
  ['JSON', writeMatrixJson],
  ['CSV', writeCsv],
])('metrics named as JavaScript names its own things go through %s', (_, write) => {
  const text = '{"__proto__": [1, 2], "constructor": [3, 4], "toString": [5, 6]}';
  const back = parseMatrix(write(parseMatrix(text)));
  expect([...back.metrics]).toEqual([
    ['__proto__', [1, 2]],
    ['constructor', [3, 4]],
    ['toString', [5, 6]],
  ]);
});

it('missing values are null in our JSON, and 0 in that for LKP', () => {
  const matrix = parseMatrix('{"a": [1, null]}');
  expect(JSON.parse(writeMatrixJson(matrix)).a).toEqual([1, null]);
  expect(JSON.parse(writeMatrixJson(matrix, { lkp: true })).a).toEqual([1, 0]);
});
