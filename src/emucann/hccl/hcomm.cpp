// Empty: libhcomm.so brings libhccl.so along.
