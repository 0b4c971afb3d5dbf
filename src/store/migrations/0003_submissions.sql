-- What clients may send again under one key, with the answer that was given first. Kept as long as the chat.
create table chat_submissions (
  chat_id uuid not null references chats (id) on delete cascade,
  user_id uuid not null,
  route text not null,
  submission_key text not null check (length(submission_key) between 1 and 255),
  digest text not null check (length(digest) = 64),  -- SHA-256 of what was sent, in hexadecimal digits
  status integer not null,
  body text not null,  -- exact text: jsonb would respell it
  created_at timestamptz not null default clock_timestamp(),
  primary key (chat_id, user_id, route, submission_key)
);
