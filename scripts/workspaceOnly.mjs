/** esbuild plugin: workspaces are inlined, npm packages stay imports, except those in `inline`. */
export function workspaceOnly(inline = []) {
  return {
    name: 'workspace-only',
    setup(b) {
      b.onResolve({ filter: /^[^./]/ }, (args) =>
        args.path.startsWith('@kdelta/') || args.kind === 'entry-point' || inline.includes(args.path)
          ? undefined
          : { path: args.path, external: true },
      );
    },
  };
}
