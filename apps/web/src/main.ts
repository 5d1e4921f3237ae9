import { copyLinks } from './copy.ts';
import { hotkeys } from './hotkeys.ts';
import { followEvents } from './live.ts';

followEvents();
hotkeys();
copyLinks();
