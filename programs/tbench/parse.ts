export { parseDbench as parse } from '@kdelta/programs/parsing';
