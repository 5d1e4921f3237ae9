import { type Frame, page } from '../../parts/layout.tsx';
import type { Problem } from '../../problems.ts';

export function renderProblem(frame: Frame, problem: Problem): string {
  return page(frame, {
    title: problem.title,
    children: (
      <header class="lead">
        <h1>
          {problem.status} {problem.title}
        </h1>
        <p>{problem.detail}</p>
        <p class="quiet">
          <code>{problem.code}</code>
        </p>
      </header>
    ),
  });
}
