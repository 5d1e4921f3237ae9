import { hotkeys } from './hotkeys.ts';
import { followEvents } from './live.ts';

followEvents();
hotkeys();
