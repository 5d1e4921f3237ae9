export { mailBody, mailSignature } from './body.ts';
export type { CommitFacts, MailFacts } from './facts.ts';
export { mailSubject, subsystemOf } from './subject.ts';
