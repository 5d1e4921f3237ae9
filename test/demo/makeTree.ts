/** The demo's tree: a base commit from Debian's kernel source, and commits planted on it by a seed. */
export { type BaseTree, cloneBase, makeBaseTree, type TreeContext } from './baseTree.ts';
export {
  type Planted,
  type PlantedCommit,
  type PlantOptions,
  plantBeside,
  plantCommits,
  pushCommit,
} from './plantCommits.ts';
