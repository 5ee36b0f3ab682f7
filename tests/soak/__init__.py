"""The promises of reliability, each as an experiment that is repeated until enough has been tried."""
