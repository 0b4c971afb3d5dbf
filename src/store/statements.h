#pragma once
// Every statement that the store sends, by name. The migrations aside, all SQL stands in statements.cc.
#include "store/connection.h"

namespace assay::store::statements {

// Sessions and transactions.
extern const Statement kConfigureSession;
extern const Statement kPing;
extern const Statement kBegin;
extern const Statement kBeginSnapshot;  // read only, one snapshot for all its statements
extern const Statement kCommit;
extern const Statement kRollback;
extern const Statement kSchemaVersion;

// The one door. Parameters and columns: chat_store.cc, rows.cc.
extern const Statement kInsertChat;
extern const Statement kLockChat;
extern const Statement kUpdateChat;
extern const Statement kInsertMessages;
extern const Statement kDeleteMessages;
extern const Statement kEnqueue;
extern const Statement kDequeue;
extern const Statement kReorderQueue;
extern const Statement kClosedRequests;
extern const Statement kAllClosedRequests;
extern const Statement kFindSubmission;
extern const Statement kInsertSubmission;

// Reads.
extern const Statement kFindChat;
extern const Statement kMarkRead;
extern const Statement kListChats;
extern const Statement kHistory;
extern const Statement kOpenStep;     // the last answer of the model before a row, and all that follows the answer
extern const Statement kPendingStep;  // the last answer and all that follows it while the client is asked, else nothing
extern const Statement kMessagesDescending;
extern const Statement kMessagesAscending;
extern const Statement kQueue;
extern const Statement kFirstSyncMessages;
extern const Statement kSyncMessages;
extern const Statement kSyncQueue;

// Ownership.
extern const Statement kAcquire;
extern const Statement kHeartbeat;
extern const Statement kRelease;
extern const Statement kTakeReplicaLock;
extern const Statement kConfigureListener;
extern const Statement kListen;
extern const Statement kNotify;

// People.
extern const Statement kUserByToken;
extern const Statement kUserByName;
extern const Statement kInsertUser;
extern const Statement kJoinDefaultOrganization;
extern const Statement kInsertToken;

// The NOTIFY channel of all replicas.
inline constexpr const char* kChannel = "assay_chats";
// After a restart of the server the replica locks are taken anew: for so long a free lock says nothing.
inline constexpr int kReplicaLockGraceSeconds = 5;

}  // namespace assay::store::statements
