import { expect, it } from 'vitest';
import { smoothByDocument } from './smooth-by-document.ts';

it('raises a paragraph whose document has other good ones', () => {
  const hits = [
    { documentId: 'alone', score: 10, number: 1 },
    { documentId: 'rich', score: 9.9, number: 2 },
    { documentId: 'rich', score: 9.8, number: 3 },
  ];

  expect(smoothByDocument(hits).map((hit) => hit.number)).toEqual([2, 3, 1]);
});

it('orders ties by number', () => {
  const hits = [5, 3, 4].map((number) => ({ documentId: 'one', score: 1, number }));

  expect(smoothByDocument(hits).map((hit) => hit.number)).toEqual([3, 4, 5]);
});
