export * from './composeMail.ts';
export * from './errors.ts';
export * from './messageId.ts';
export * from './parseRecipient.ts';
export * from './planRecipients.ts';
export * from './sendMail.ts';
