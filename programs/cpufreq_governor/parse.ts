import { parseLabelled } from '@kdelta/programs/parsing';

export const parse = parseLabelled('nr_set');
