-- A user asked for a compaction: the running turn sums the conversation up and does nothing else.
alter table chats add column compaction_due boolean not null default false;
