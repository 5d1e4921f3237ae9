import { parseLabelled } from '@kdelta/programs/parsing';

export const parse = parseLabelled('size');
